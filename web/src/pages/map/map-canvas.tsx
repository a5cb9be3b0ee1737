import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { followGestures } from './gestures.ts';
import { cellsBetween, neighbour, type Point, positionOf } from './layout.ts';
import type { Look } from './looks.ts';
import { computersOf, type MapData } from './map-data.ts';
import { readPalette } from './palette.ts';
import { Stage } from './stage.ts';
import { useTheme } from './use-theme.ts';

/** What a person does with computers on the map. */
export interface MapActions {
  onCursor: (cell: number | null) => void;
  onOpen: (computer: number) => void;
  /** @param isToggled - whether it is one that is added to the selection or taken out of it */
  onSelect: (computers: readonly number[], isToggled: boolean) => void;
  onClear: () => void;
}

interface MapCanvasProps extends MapActions {
  data: MapData;
  looks: readonly Look[];
  /** The value that is emphasized, or null. */
  emphasized: number | null;
  selected: ReadonlySet<number>;
  /** Whether dragging selects. */
  isSelecting: boolean;
  describedBy: string;
}

const ZOOM_STEP = 1.4;

/** The canvas with a cell for each computer, for mouse, fingers and keys. */
export function MapCanvas(props: MapCanvasProps) {
  const { data, looks, emphasized, selected } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [stage, setStage] = useState<Stage | null>(null);
  const latest = useRef(props);
  const anchor = useRef<number | null>(null);
  const theme = useTheme();
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    const created = new Stage(canvas.current!);
    const parent = canvas.current!.parentElement!;
    const observer = new ResizeObserver(() =>
      created.resize({ width: parent.clientWidth, height: parent.clientHeight }),
    );
    observer.observe(parent);
    const stop = follow(canvas.current!, created, () => latest.current);
    setStage(created);
    return () => {
      observer.disconnect();
      stop();
      created.destroy();
    };
  }, []);
  const palette = usePalette(canvas, looks, emphasized, theme);
  useEffect(() => {
    if (palette) stage?.show(data, palette);
  }, [stage, data, palette]);
  useEffect(() => stage?.select((id) => selected.has(id)), [stage, selected]);
  return (
    <div className="map-stage">
      <div className="map-view">
        {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: screen readers pass it the keys that it handles itself */}
        <canvas
          ref={canvas}
          className="map-canvas"
          tabIndex={0}
          role="application"
          aria-label="Map of computers"
          aria-describedby={props.describedBy}
          onKeyDown={(event) => stage && pressKey(event, stage, props, anchor)}
          onFocus={() => stage && startCursor(stage, props)}
        />
      </div>
      <div className="map-zoom">
        <Button aria-label="Zoom in" onClick={() => stage?.zoomBy(ZOOM_STEP)}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={() => stage?.zoomBy(1 / ZOOM_STEP)}>
          −
        </Button>
        <Button onClick={() => stage?.fit()}>Whole map</Button>
      </div>
    </div>
  );
}

function usePalette(
  canvas: React.RefObject<HTMLCanvasElement | null>,
  looks: readonly Look[],
  emphasized: number | null,
  theme: string,
) {
  const [palette, setPalette] = useState<ReturnType<typeof readPalette> | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the theme
  useEffect(() => {
    setPalette(readPalette(canvas.current!.parentElement!, looks, emphasized));
  }, [canvas, looks, emphasized, theme]);
  return palette;
}

function follow(canvas: HTMLCanvasElement, stage: Stage, latest: () => MapCanvasProps): () => void {
  const setCursor = (cell: number | null) => {
    if (cell === stage.cursor) return;
    stage.setCursor(cell);
    latest().onCursor(cell);
  };
  return followGestures(canvas, {
    isSelecting: (event) => latest().isSelecting || event.shiftKey,
    onPan: (by) => stage.panBy(by),
    onZoom: (factor, at) => stage.zoomBy(factor, at),
    onHover(at) {
      const cell = at && stage.cellAt(at);
      if (cell !== null) setCursor(cell);
    },
    onTap(at, event) {
      const cell = stage.cellAt(at);
      if (cell === null) return latest().onClear();
      const id = latest().data.ids[cell]!;
      setCursor(cell);
      if (event.ctrlKey || event.metaKey) latest().onSelect([id], true);
      else if (event.pointerType === 'mouse') latest().onOpen(id);
    },
    onRectangle(from, to, isDone) {
      const corners = [stage.pointAt(from), stage.pointAt(to)] as const;
      stage.setRectangle(isDone ? null : corners);
      if (isDone) latest().onSelect(computersOf(latest().data, cellsBetween(stage.layout, ...corners)), false);
    },
  });
}

/** With the first key, the first computer is named. */
function startCursor(stage: Stage, { data, onCursor }: MapCanvasProps): void {
  if (stage.cursor !== null || data.ids.length === 0) return;
  stage.setCursor(0);
  onCursor(0);
}

const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** Where a key moves the cursor; null for other keys. */
function destination(key: string, { layout }: Stage, cursor: number): number | null {
  if (layout.cells === 0) return null;
  if (key === 'Home') return 0;
  if (key === 'End') return layout.cells - 1;
  const arrow = ARROWS[key];
  return arrow ? neighbour(layout, cursor, arrow) : null;
}

function pressKey(event: KeyboardEvent, stage: Stage, props: MapCanvasProps, anchor: { current: number | null }): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { data, onCursor, onSelect } = props;
  const cursor = stage.cursor ?? 0;
  const next = destination(event.key, stage, cursor);
  if (next !== null) {
    stage.setCursor(next, true);
    onCursor(next);
    anchor.current = event.shiftKey ? (anchor.current ?? cursor) : null;
    if (anchor.current !== null) onSelect(computersIn(stage, data, anchor.current, next), false);
  } else if (!pressOther(event.key, stage, props, cursor)) return;
  event.preventDefault();
}

function computersIn(stage: Stage, data: MapData, one: number, other: number): number[] {
  const { layout } = stage;
  return computersOf(data, cellsBetween(layout, positionOf(layout, one), positionOf(layout, other)));
}

/** @returns whether the key means something */
function pressOther(key: string, stage: Stage, props: MapCanvasProps, cursor: number): boolean {
  const id = props.data.ids[cursor];
  if (key === '+' || key === '=') stage.zoomBy(ZOOM_STEP);
  else if (key === '-') stage.zoomBy(1 / ZOOM_STEP);
  else if (key === '0') stage.fit();
  else if (key === 'Escape') props.onClear();
  else if (id !== undefined && key === 'Enter') props.onOpen(id);
  else if (id !== undefined && key === ' ') props.onSelect([id], true);
  else return false;
  return true;
}
