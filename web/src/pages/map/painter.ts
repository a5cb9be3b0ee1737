import type { Camera } from './camera.ts';
import { toMap, toView } from './camera.ts';
import { type Block, cellsBetween, type Layout, type Point, positionOf, type Size } from './layout.ts';
import { MARKS, type MarkName } from './looks.ts';
import type { Palette } from './palette.ts';

/** What a map shows besides the values. */
export interface Scene {
  camera: Camera;
  /** Under the keyboard or pointer. */
  cursor: number | null;
  /** Corners of a selection that is being drawn, on the map. */
  rectangle: readonly [Point, Point] | null;
}

const GRID_FROM = 4;
const MARKS_FROM = 12;
const LABEL_FROM = 9;
const LABEL_PX = 20;

/**
 * Draws a map on a canvas. Values are kept as one pixel per cell of an image, which the browser enlarges: a frame costs about
 * the same for any number of cells, and a changed value is one pixel.
 */
export class Painter {
  readonly #canvas: HTMLCanvasElement;
  readonly #layout: Layout;
  readonly #names: readonly string[];
  readonly #palette: Palette;
  readonly #cells: Pixels;
  readonly #selected: Pixels;
  readonly #sprites = new Map<string, OffscreenCanvas>();
  #values: Uint8Array;

  /** @param names - of the groups */
  constructor(
    canvas: HTMLCanvasElement,
    map: { layout: Layout; values: Uint8Array; names: readonly string[]; palette: Palette },
  ) {
    this.#canvas = canvas;
    this.#layout = map.layout;
    this.#names = map.names;
    this.#palette = map.palette;
    this.#values = map.values;
    this.#cells = new Pixels(map.layout);
    this.#selected = new Pixels(map.layout);
    this.#cells.fill((cell) => this.#palette.values[this.#values[cell]!]!.pixel);
  }

  /** Takes over values of which some have changed. */
  update(values: Uint8Array, changed: readonly number[]): void {
    this.#values = values;
    this.#cells.set(changed, (cell) => this.#palette.values[values[cell]!]!.pixel);
  }

  /** Marks the selected cells, and no others. */
  select(isSelected: (cell: number) => boolean): void {
    const { selected } = this.#palette;
    this.#selected.fill((cell) => (isSelected(cell) ? selected : 0));
  }

  /** Draws a frame. */
  draw({ camera, cursor, rectangle }: Scene): void {
    const context = this.#canvas.getContext('2d');
    if (!context) return;
    const ratio = window.devicePixelRatio;
    const view = { width: this.#canvas.width / ratio, height: this.#canvas.height / ratio };
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.#palette.background;
    context.fillRect(0, 0, view.width, view.height);
    context.imageSmoothingEnabled = camera.scale * ratio < 1;
    this.#cells.drawOn(context, camera, view);
    this.#selected.drawOn(context, camera, view);
    if (camera.scale >= GRID_FROM) this.#drawGrid(context, camera, view);
    if (camera.scale >= MARKS_FROM) this.#drawMarks(context, camera, view);
    if (this.#layout.label * camera.scale >= LABEL_FROM) this.#drawLabels(context, camera, view);
    if (cursor !== null) this.#drawCursor(context, camera, cursor);
    if (rectangle) this.#drawRectangle(context, camera, rectangle);
  }

  #drawGrid(context: CanvasRenderingContext2D, camera: Camera, view: Size): void {
    const { scale } = camera;
    const width = scale >= MARKS_FROM ? 2 : 1;
    context.fillStyle = this.#palette.background;
    for (let x = (Math.ceil(camera.x) - camera.x) * scale; x < view.width; x += scale) {
      context.fillRect(Math.round(x) - width, 0, width, view.height);
    }
    for (let y = (Math.ceil(camera.y) - camera.y) * scale; y < view.height; y += scale) {
      context.fillRect(0, Math.round(y) - width, view.width, width);
    }
  }

  #drawMarks(context: CanvasRenderingContext2D, camera: Camera, view: Size): void {
    const end = toMap(camera, { x: view.width, y: view.height });
    for (const cell of cellsBetween(this.#layout, camera, end)) {
      const mark = this.#palette.values[this.#values[cell]!]!.mark;
      if (mark === 'none') continue;
      const { x, y } = toView(camera, positionOf(this.#layout, cell));
      const sprite = this.#spriteOf(mark, Math.round(camera.scale) - 2);
      context.drawImage(sprite, x, y, camera.scale - 2, camera.scale - 2);
    }
  }

  /** A mark in the size of the cells: drawing thousands of paths would take too long for a frame. */
  #spriteOf(mark: Exclude<MarkName, 'none'>, size: number): OffscreenCanvas {
    const key = `${mark} ${size}`;
    let sprite = this.#sprites.get(key);
    if (sprite) return sprite;
    const pixels = Math.ceil(size * window.devicePixelRatio);
    sprite = new OffscreenCanvas(pixels, pixels);
    const context = sprite.getContext('2d')!;
    context.scale(pixels / 16, pixels / 16);
    context.fillStyle = this.#palette.background;
    context.fill(new Path2D(MARKS[mark]), 'evenodd');
    this.#sprites.set(key, sprite);
    return sprite;
  }

  #drawLabels(context: CanvasRenderingContext2D, camera: Camera, view: Size): void {
    context.fillStyle = this.#palette.ink;
    context.font = this.#palette.font;
    context.textBaseline = 'middle';
    for (const [index, block] of this.#layout.blocks.entries()) {
      const { x, y } = toView(camera, block);
      if (y < 0 || y > view.height + LABEL_PX || x > view.width) continue;
      const width = widthOf(block) * camera.scale;
      if (x + width < 0 || width < 3 * LABEL_FROM) continue;
      const height = this.#layout.label * camera.scale;
      context.save();
      context.beginPath();
      context.rect(x, y - height, width, height);
      context.clip();
      context.fillText(this.#names[index] ?? '', x, y - Math.min(height, LABEL_PX) / 2);
      context.restore();
    }
  }

  #drawCursor(context: CanvasRenderingContext2D, camera: Camera, cursor: number): void {
    if (cursor >= this.#layout.cells) return;
    const { x, y } = toView(camera, positionOf(this.#layout, cursor));
    const size = Math.max(camera.scale, 6);
    context.strokeStyle = this.#palette.background;
    context.lineWidth = 4;
    context.strokeRect(x - 2, y - 2, size + 3, size + 3);
    context.strokeStyle = this.#palette.ink;
    context.lineWidth = 2;
    context.strokeRect(x - 2, y - 2, size + 3, size + 3);
  }

  #drawRectangle(context: CanvasRenderingContext2D, camera: Camera, [one, other]: readonly [Point, Point]): void {
    const [start, end] = [toView(camera, one), toView(camera, other)];
    context.strokeStyle = this.#palette.ink;
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.strokeRect(start.x, start.y, end.x - start.x, end.y - start.y);
    context.setLineDash([]);
  }
}

/** An image with one pixel for each cell of a layout. */
class Pixels {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #layout: Layout;
  readonly #image: ImageData;
  readonly #pixels: Uint32Array;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#canvas = document.createElement('canvas');
    this.#canvas.width = layout.width;
    this.#canvas.height = layout.height;
    this.#context = this.#canvas.getContext('2d')!;
    this.#image = this.#context.createImageData(layout.width, layout.height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
  }

  fill(colorOf: (cell: number) => number): void {
    for (const { x, y, columns, start, cells } of this.#layout.blocks) {
      for (let at = 0; at < cells; at += 1) {
        const place = (y + Math.floor(at / columns)) * this.#layout.width + x + (at % columns);
        this.#pixels[place] = colorOf(start + at);
      }
    }
    this.#context.putImageData(this.#image, 0, 0);
  }

  set(cells: readonly number[], colorOf: (cell: number) => number): void {
    for (const cell of cells) {
      const { x, y } = positionOf(this.#layout, cell);
      this.#pixels[y * this.#layout.width + x] = colorOf(cell);
      this.#context.putImageData(this.#image, 0, 0, x, y, 1, 1);
    }
  }

  drawOn(context: CanvasRenderingContext2D, camera: Camera, view: Size): void {
    const { width, height } = this.#layout;
    const [left, top] = [Math.max(0, Math.floor(camera.x)), Math.max(0, Math.floor(camera.y))];
    const end = toMap(camera, { x: view.width, y: view.height });
    const [right, bottom] = [Math.min(width, Math.ceil(end.x)), Math.min(height, Math.ceil(end.y))];
    if (right <= left || bottom <= top) return;
    const at = toView(camera, { x: left, y: top });
    const [across, down] = [right - left, bottom - top];
    context.drawImage(this.#canvas, left, top, across, down, at.x, at.y, across * camera.scale, down * camera.scale);
  }
}

function widthOf({ columns, cells }: Block): number {
  return Math.min(columns, cells);
}
