// Training in the visitor's browser: the models that docs/browser_models.py exports, run by onnxruntime-web.
import * as ort from "./ort.wasm.min.mjs";

const here = new URL("./", import.meta.url).href;
ort.env.wasm.wasmPaths = here;
ort.env.wasm.numThreads = 1;

const WEIGHTS = ["w1", "b1", "w2", "b2"];
const STATE = [...WEIGHTS, ...WEIGHTS.map((name) => `m_${name}`)];
const BATCH = 64;
const element = (id) => document.getElementById(`browser-${id}`);
const demo = { losses: [], accuracy: 0, training: false, ready: false };
window.onaxDemo = demo;

let sessions, digits, state;

async function load() {
  const names = ["initialize", "step", "predict"];
  const open = (name) => ort.InferenceSession.create(`${here}${name}.onnx`, { executionProviders: ["wasm"] });
  const opened = [];
  for (const name of names) opened.push(await open(name));
  sessions = Object.fromEntries(names.map((name, i) => [name, opened[i]]));
  const data = await (await fetch(`${here}digits.json`)).json();
  const images = Float32Array.from(data.images, (value) => value / 16);
  digits = { images, labels: Int32Array.from(data.labels), trained: data.trained };
}

async function restart() {
  const seed = new ort.Tensor("uint32", Uint32Array.from([0, Math.floor(Math.random() * 2 ** 31)]), [2]);
  state = await sessions.initialize.run({ seed });
  demo.losses = [];
  await report();
}

async function step() {
  const x = new Float32Array(BATCH * 64);
  const y = new Int32Array(BATCH);
  for (let i = 0; i < BATCH; i++) {
    const chosen = Math.floor(Math.random() * digits.trained);
    x.set(digits.images.subarray(64 * chosen, 64 * chosen + 64), 64 * i);
    y[i] = digits.labels[chosen];
  }
  const feeds = Object.fromEntries(STATE.map((name) => [name, state[name]]));
  feeds.x = new ort.Tensor("float32", x, [BATCH, 64]);
  feeds.y = new ort.Tensor("int32", y, [BATCH]);
  feeds.rate = new ort.Tensor("float32", [0.05], []);
  const results = await sessions.step.run(feeds);
  state = Object.fromEntries(STATE.map((name) => [name, results[`new_${name}`]]));
  demo.losses.push(results.loss.data[0]);
}

async function probabilities(images) {
  const feeds = Object.fromEntries(WEIGHTS.map((name) => [name, state[name]]));
  feeds.x = new ort.Tensor("float32", images, [images.length / 64, 64]);
  return (await sessions.predict.run(feeds)).p.data;
}

const best = (p) => p.indexOf(Math.max(...p));

async function report() {
  const { images, labels, trained } = digits;
  const p = await probabilities(images.slice(64 * trained));
  const count = labels.length - trained;
  let right = 0;
  for (let i = 0; i < count; i++) right += best([...p.subarray(10 * i, 10 * i + 10)]) === labels[trained + i];
  demo.accuracy = right / count;
  const loss = demo.losses.length ? demo.losses.at(-1).toFixed(3) : "–";
  element("numbers").textContent =
    `step ${demo.losses.length}, loss ${loss}, ${(100 * demo.accuracy).toFixed(1)} % of ${count} test digits right`;
  drawCurve();
  await guess();
}

function drawCurve() {
  const canvas = element("curve");
  const pen = canvas.getContext("2d");
  const { width, height } = canvas;
  pen.clearRect(0, 0, width, height);
  pen.strokeStyle = "#888";
  pen.strokeRect(0.5, 0.5, width - 1, height - 1);
  const top = 2.6;
  const losses = demo.losses;
  const span = Math.max(200, losses.length);
  pen.strokeStyle = "#2a7";
  pen.lineWidth = 1.5;
  pen.beginPath();
  let mean = losses[0];
  losses.forEach((loss, i) => {
    mean = 0.9 * mean + 0.1 * loss;
    pen.lineTo((i / span) * width, height - (Math.min(mean, top) / top) * height);
  });
  pen.stroke();
}

async function train() {
  demo.training = !demo.training;
  element("train").textContent = demo.training ? "Pause" : "Train";
  while (demo.training && demo.losses.length < 2000) {
    for (let i = 0; i < 10; i++) await step();
    await report();
    await new Promise(requestAnimationFrame);
  }
  demo.training = false;
  element("train").textContent = "Train";
}

// --- the canvas to draw on ---

const SIZE = 192;
const drawing = element("drawing");
const brush = drawing.getContext("2d", { willReadFrequently: true });
let last = null;

function clear() {
  brush.fillStyle = "black";
  brush.fillRect(0, 0, SIZE, SIZE);
  element("guess").textContent = "Draw a digit.";
  element("bars").replaceChildren();
}

function place(event) {
  const box = drawing.getBoundingClientRect();
  return [((event.clientX - box.left) * SIZE) / box.width, ((event.clientY - box.top) * SIZE) / box.height];
}

function stroke(event) {
  if (last === null) return;
  const [x, y] = place(event);
  brush.strokeStyle = "white";
  brush.lineWidth = 20;
  brush.lineCap = brush.lineJoin = "round";
  brush.beginPath();
  brush.moveTo(...last);
  brush.lineTo(x, y);
  brush.stroke();
  last = [x, y];
}

function picture() {
  // The drawing as the data set has its digits: its box scaled to 8 rows, and each pixel the mean of what it covers.
  const pixels = brush.getImageData(0, 0, SIZE, SIZE).data;
  let [left, right, top, bottom] = [SIZE, -1, SIZE, -1];
  for (let y = 0; y < SIZE; y++)
    for (let x = 0; x < SIZE; x++)
      if (pixels[4 * (y * SIZE + x)] > 64) {
        [left, right] = [Math.min(left, x), Math.max(right, x)];
        [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
      }
  if (right < 0) return null;
  const side = Math.max(bottom - top, right - left) + 1;
  const [x0, y0] = [(left + right - side) / 2, (top + bottom - side) / 2];
  const small = document.createElement("canvas");
  small.width = small.height = 64;
  const pen = small.getContext("2d");
  pen.drawImage(drawing, x0, y0, side, side, 0, 0, 64, 64);
  const values = pen.getImageData(0, 0, 64, 64).data;
  const image = new Float32Array(64);
  for (let i = 0; i < 64 * 64; i++) {
    const cell = 8 * Math.floor(i / 512) + Math.floor((i % 64) / 8);
    image[cell] += values[4 * i] / 255 / 64;
  }
  return image;
}

async function guess() {
  const image = picture();
  if (image === null || !state) return;
  const p = [...(await probabilities(image))];
  demo.guess = best(p);
  element("guess").textContent = `A ${demo.guess}, with probability ${Math.max(...p).toFixed(2)}.`;
  element("bars").replaceChildren(
    ...p.map((value, digit) => {
      const bar = document.createElement("div");
      bar.textContent = digit;
      bar.style.cssText = `background: #2a7; color: white; padding: 0 4px; min-width: 1em; width: ${90 * value}%`;
      return bar;
    }),
  );
}

drawing.addEventListener("pointerdown", (event) => {
  drawing.setPointerCapture(event.pointerId);
  last = place(event);
  stroke(event);
});
drawing.addEventListener("pointermove", stroke);
drawing.addEventListener("pointerup", async () => {
  last = null;
  await guess();
});
element("clear").addEventListener("click", clear);
element("restart").addEventListener("click", restart);
element("train").addEventListener("click", train);

clear();
try {
  await load();
  await restart();
  for (const id of ["train", "restart"]) element(id).disabled = false;
  demo.ready = true;
} catch (error) {
  element("numbers").textContent = `This browser cannot run it: ${error.message}`;
  throw error;
}
