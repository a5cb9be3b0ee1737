import type { Point, Size } from './layout.ts';

/** Which part of the map is in view: the point in the upper left corner, and the pixels of a cell. */
export interface Camera extends Point {
  scale: number;
}

const MAX_SCALE = 48;

/** The whole map in the view, at most as large as is pleasant. */
export function wholeMap(map: Size, view: Size, most = 24): Camera {
  const scale = Math.min(most, view.width / map.width, view.height / map.height);
  return { x: 0, y: 0, scale };
}

/** Larger or smaller around a point of the view, which stays where it is. */
export function zoom(camera: Camera, factor: number, at: Point, { map, view }: { map: Size; view: Size }): Camera {
  const least = Math.min(wholeMap(map, view).scale, 1);
  const scale = Math.min(MAX_SCALE, Math.max(least, camera.scale * factor));
  const point = toMap(camera, at);
  return keepInView({ scale, x: point.x - at.x / scale, y: point.y - at.y / scale }, map, view);
}

/** Moved by pixels of the view. */
export function pan(camera: Camera, by: Point, { map, view }: { map: Size; view: Size }): Camera {
  const { scale } = camera;
  return keepInView({ scale, x: camera.x - by.x / scale, y: camera.y - by.y / scale }, map, view);
}

/** Moved as little as is needed to have a cell in view. */
export function reveal(camera: Camera, cell: Point, { map, view }: { map: Size; view: Size }): Camera {
  const [width, height] = [view.width / camera.scale, view.height / camera.scale];
  const x = Math.min(Math.max(camera.x, cell.x + 2 - width), Math.max(cell.x - 1, cell.x + 2 - width));
  const y = Math.min(Math.max(camera.y, cell.y + 2 - height), Math.max(cell.y - 1, cell.y + 2 - height));
  return keepInView({ scale: camera.scale, x, y }, map, view);
}

/** A point of the view, on the map. */
export function toMap({ x, y, scale }: Camera, point: Point): Point {
  return { x: x + point.x / scale, y: y + point.y / scale };
}

/** A point of the map, in the view. */
export function toView({ x, y, scale }: Camera, point: Point): Point {
  return { x: (point.x - x) * scale, y: (point.y - y) * scale };
}

function keepInView(camera: Camera, map: Size, view: Size): Camera {
  const { scale } = camera;
  return {
    scale,
    x: within(camera.x, map.width - view.width / scale),
    y: within(camera.y, map.height - view.height / scale),
  };
}

/** Between the edges; what is smaller than the view is at its beginning. */
function within(start: number, most: number): number {
  return Math.min(Math.max(start, 0), Math.max(most, 0));
}
