"""Image operations of PIX (dm-pix): color, blur, warps, augmentations and quality measures."""

import dm_pix
import jax
import jax.numpy as jnp


def main():
    image = jax.random.uniform(jax.random.PRNGKey(0), (12, 12, 3))
    key = jax.random.PRNGKey(1)
    blurred = jax.jit(lambda i: dm_pix.gaussian_blur(i, 1.0, 5))(image)
    turned = dm_pix.rotate(image, 0.4)
    return {
        "hsv": dm_pix.rgb_to_hsv(image)[::4, ::4],
        "blurred": blurred[::4, ::4],
        "turned": turned[::4, ::4],
        "contrast": dm_pix.random_contrast(key, image, 0.5, 1.5)[::4, ::4],
        "flipped": dm_pix.random_flip_left_right(key, image)[0],
        "psnr": dm_pix.psnr(image, blurred),
        "ssim": dm_pix.ssim(image, blurred),
        "crop": dm_pix.random_crop(key, image, (4, 4, 3)),
        "depth": dm_pix.depth_to_space(jnp.arange(16.0).reshape(2, 2, 4), 2),
        "gamma": dm_pix.adjust_gamma(image, 2.0)[0],
        "gradient": jax.grad(lambda s: dm_pix.adjust_saturation(image, s).sum())(0.5),
    }


TOLERANCE = 1e-3  # hue and coordinates of warps are decided by rounding
