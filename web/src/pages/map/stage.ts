import { type Camera, pan, reveal, toMap, wholeMap, zoom } from './camera.ts';
import { cellAt, type Layout, layOut, type Point, positionOf, type Size } from './layout.ts';
import { changedCells, type MapData } from './map-data.ts';
import { Painter } from './painter.ts';
import type { Palette } from './palette.ts';

/** A canvas with a map: which part of it is in view, and when it is drawn again. */
export class Stage {
  readonly #canvas: HTMLCanvasElement;
  #view: Size = { width: 1, height: 1 };
  #layout: Layout = layOut([], this.#view, false);
  #camera: Camera = { x: 0, y: 0, scale: 1 };
  /** Whether the whole map is in view, and stays so when its size changes. */
  #isFitted = true;
  #painter: Painter | null = null;
  #data: MapData | null = null;
  #palette: Palette | null = null;
  #isSelected: (id: number) => boolean = () => false;
  #cursor: number | null = null;
  #rectangle: readonly [Point, Point] | null = null;
  #frame = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
  }

  get layout(): Layout {
    return this.#layout;
  }

  get cursor(): number | null {
    return this.#cursor;
  }

  resize(view: Size): void {
    this.#view = view;
    const ratio = window.devicePixelRatio;
    this.#canvas.width = Math.max(1, Math.round(view.width * ratio));
    this.#canvas.height = Math.max(1, Math.round(view.height * ratio));
    this.#rebuild();
  }

  /** Shows a map. Where only values differ from the one before, only their cells are painted again. */
  show(data: MapData, palette: Palette): void {
    const before = this.#data;
    this.#data = data;
    if (this.#painter && before?.ids === data.ids && before.color === data.color && this.#palette === palette) {
      const changed = changedCells(before.values, data.values);
      this.#painter.update(data.values, changed);
      if (changed.length > 0) this.#request();
      return;
    }
    this.#palette = palette;
    this.#rebuild();
  }

  select(isSelected: (id: number) => boolean): void {
    this.#isSelected = isSelected;
    this.#paintSelection();
  }

  /** @param isFollowed - whether the view moves to have the cell in it */
  setCursor(cell: number | null, isFollowed = false): void {
    this.#cursor = cell;
    if (cell !== null && isFollowed) this.#move(reveal(this.#camera, positionOf(this.#layout, cell), this.#sizes()));
    this.#request();
  }

  setRectangle(rectangle: readonly [Point, Point] | null): void {
    this.#rectangle = rectangle;
    this.#request();
  }

  panBy(by: Point): void {
    this.#move(pan(this.#camera, by, this.#sizes()));
  }

  /** @param at - a point of the view that stays where it is; its middle, or the cursor, by default */
  zoomBy(factor: number, at: Point = { x: this.#view.width / 2, y: this.#view.height / 2 }): void {
    this.#move(zoom(this.#camera, factor, at, this.#sizes()));
  }

  /** Has the whole map in view. */
  fit(): void {
    this.#isFitted = true;
    this.#camera = wholeMap(this.#layout, this.#view);
    this.#request();
  }

  /** A point of the view, on the map. */
  pointAt(at: Point): Point {
    return toMap(this.#camera, at);
  }

  /** The cell at a point of the view. */
  cellAt(at: Point): number | null {
    return cellAt(this.#layout, this.pointAt(at));
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
  }

  #sizes() {
    return { map: this.#layout, view: this.#view };
  }

  #move(camera: Camera): void {
    this.#camera = camera;
    this.#isFitted = false;
    this.#request();
  }

  #rebuild(): void {
    const [data, palette] = [this.#data, this.#palette];
    if (!data || !palette) return;
    const isLabelled = data.groups.some(({ name }) => name !== null);
    this.#layout = layOut(
      data.groups.map(({ cells }) => cells),
      this.#view,
      isLabelled,
    );
    const names = isLabelled ? data.groups.map(nameOf) : [];
    this.#painter = new Painter(this.#canvas, { layout: this.#layout, values: data.values, names, palette });
    if (this.#cursor !== null && this.#cursor >= this.#layout.cells) this.#cursor = null;
    this.#camera = this.#isFitted
      ? wholeMap(this.#layout, this.#view)
      : pan(this.#camera, { x: 0, y: 0 }, this.#sizes());
    this.#paintSelection();
  }

  #paintSelection(): void {
    const ids = this.#data?.ids;
    if (ids) this.#painter?.select((cell) => this.#isSelected(ids[cell]!));
    this.#request();
  }

  /** Draws with the next frame, once however much changes before. */
  #request(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#painter?.draw({ camera: this.#camera, cursor: this.#cursor, rectangle: this.#rectangle });
    });
  }
}

/** What a group is called. */
export function nameOf({ title }: { title: string | null }): string {
  return title ?? 'No tag';
}
