import type { Point } from './layout.ts';

/** What a person does on the map, in pixels of the view. */
export interface Gestures {
  /** Whether dragging selects rather than moves. */
  isSelecting: (event: PointerEvent) => boolean;
  onPan: (by: Point) => void;
  onZoom: (factor: number, at: Point) => void;
  onHover: (at: Point | null) => void;
  onTap: (at: Point, event: PointerEvent) => void;
  /** While a rectangle is drawn, and at its end. */
  onRectangle: (from: Point, to: Point, isDone: boolean) => void;
}

const TAP_PX = 4;
const WHEEL_STEP = 0.0016;
const LINE_PX = 33;

interface Drag {
  from: Point;
  last: Point;
  isSelection: boolean;
  hasMoved: boolean;
}

/** Follows mouse, pen, fingers and wheel on an element. @returns a function that ends this */
export function followGestures(element: HTMLElement, gestures: Gestures): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const pointers = new Map<number, Point>();
  let drag: Drag | null = null;
  const pointOf = (event: MouseEvent): Point => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const end = (event: PointerEvent) => {
    pointers.delete(event.pointerId);
    const ended = drag;
    drag = null;
    if (ended === null || event.type === 'pointercancel') return;
    if (ended.isSelection) gestures.onRectangle(ended.from, ended.hasMoved ? pointOf(event) : ended.from, true);
    else if (!ended.hasMoved) gestures.onTap(ended.from, event);
  };
  element.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      const at = pointOf(event);
      pointers.set(event.pointerId, at);
      const isOnly = pointers.size === 1;
      drag = isOnly ? { from: at, last: at, isSelection: gestures.isSelecting(event), hasMoved: false } : null;
    },
    { signal },
  );
  element.addEventListener(
    'pointermove',
    (event) => {
      const at = pointOf(event);
      if (pointers.size === 2 && pointers.has(event.pointerId)) pinch(pointers, event.pointerId, at, gestures);
      else if (drag) moveDrag(drag, at, gestures);
      else if (event.pointerType === 'mouse') gestures.onHover(at);
      if (pointers.has(event.pointerId)) pointers.set(event.pointerId, at);
    },
    { signal },
  );
  element.addEventListener('pointerup', end, { signal });
  element.addEventListener('pointercancel', end, { signal });
  element.addEventListener('pointerleave', () => gestures.onHover(null), { signal });
  element.addEventListener('wheel', (event) => turnWheel(event, pointOf(event), gestures), { signal, passive: false });
  return () => stop.abort();
}

function moveDrag(drag: Drag, at: Point, { onPan, onRectangle }: Gestures): void {
  if (!drag.hasMoved && Math.hypot(at.x - drag.from.x, at.y - drag.from.y) < TAP_PX) return;
  drag.hasMoved = true;
  if (drag.isSelection) onRectangle(drag.from, at, false);
  else onPan({ x: at.x - drag.last.x, y: at.y - drag.last.y });
  drag.last = at;
}

/** Two fingers zoom by their distance, and move the map with the point between them. */
function pinch(pointers: ReadonlyMap<number, Point>, moved: number, at: Point, { onPan, onZoom }: Gestures): void {
  const before = pointers.get(moved)!;
  const other = [...pointers].find(([id]) => id !== moved)![1];
  const distance = (point: Point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
  onPan({ x: (at.x - before.x) / 2, y: (at.y - before.y) / 2 });
  onZoom(distance(at) / distance(before), { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
}

function turnWheel(event: WheelEvent, at: Point, { onPan, onZoom }: Gestures): void {
  event.preventDefault();
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE_PX;
  if (event.shiftKey) onPan({ x: -event.deltaY * unit, y: 0 });
  else onZoom(Math.exp(-(event.deltaY * unit) * WHEEL_STEP), at);
}
