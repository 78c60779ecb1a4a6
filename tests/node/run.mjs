// Runs models in onnxruntime-web (WebAssembly) or onnxruntime-node.
//
//     node run.mjs PACKAGE_FOLDER RUNTIME FOLDER
//
// FOLDER/manifest.json: [{name, model, runs: [{inputs: {name: tensor}}], carry: {input: output}}], a tensor being
// {type, dims, data (base64)}.  The runs of a case follow one another; `carry` says which outputs of one run are inputs
// of the next.  Writes FOLDER/results.json: [{name, outputs: {name: tensor}} or {name, error}], the last run's outputs.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, runtime, folder] = process.argv.slice(2);
const require = createRequire(path.join(packages, "package.json"));
const module = await import(pathToFileURL(require.resolve(runtime)).href);
const ort = module.InferenceSession ? module : module.default;
if (runtime === "onnxruntime-web") ort.env.wasm.numThreads = 1;

const VIEWS = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
  bool: Uint8Array, float16: typeof Float16Array === "undefined" ? Uint16Array : Float16Array,
};

function decode({ type, dims, data }) {
  const bytes = Buffer.from(data, "base64");
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return new ort.Tensor(type, new VIEWS[type](copy), dims);
}

function encode(tensor) {
  const { buffer, byteOffset, byteLength } = tensor.data;
  return { type: tensor.type, dims: tensor.dims, data: Buffer.from(buffer, byteOffset, byteLength).toString("base64") };
}

const results = [];
for (const { name, model, runs, carry } of JSON.parse(fs.readFileSync(path.join(folder, "manifest.json"), "utf8"))) {
  try {
    const bytes = new Uint8Array(fs.readFileSync(path.join(folder, model)));
    const session = await ort.InferenceSession.create(bytes, { executionProviders: [runtime === "onnxruntime-web" ? "wasm" : "cpu"] });
    let outputs = null;
    for (const { inputs } of runs) {
      const feeds = Object.fromEntries(Object.entries(inputs).map(([key, tensor]) => [key, decode(tensor)]));
      if (outputs) for (const [input, output] of Object.entries(carry)) feeds[input] = outputs[output];
      outputs = await session.run(feeds);
    }
    results.push({ name, outputs: Object.fromEntries(Object.entries(outputs).map(([key, t]) => [key, encode(t)])) });
  } catch (error) {
    results.push({ name, error: String(error && error.message ? error.message : error) });
  }
}
fs.writeFileSync(path.join(folder, "results.json"), JSON.stringify(results));
process.exit(0);
