import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CloudEvent } from '../../../packages/client/src/index.ts';
import { wholeMap, pan, reveal, toMap, zoom } from '../../../web/src/pages/map/camera.ts';
import { cellAt, cellsBetween, layOut, neighbour, positionOf } from '../../../web/src/pages/map/layout.ts';
import { both, NOTHING, queryOfIds, staleBy } from '../../../web/src/pages/map/live-map.ts';
import { changedCells, computersOf, countValues, patched, toMapData } from '../../../web/src/pages/map/map-data.ts';

const VIEW = { width: 1000, height: 600 };
const counts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 30 });
const all = (size: number) => Array.from({ length: size }, (_, cell) => cell);

describe('the layout of a map', () => {
  it('has a place of its own for every cell, where the cell is found again', () => {
    fc.assert(
      fc.property(counts, fc.boolean(), (groups, isLabelled) => {
        const layout = layOut(groups, VIEW, isLabelled);
        const places = new Set<string>();
        for (const cell of all(layout.cells)) {
          const { x, y } = positionOf(layout, cell);
          expect(x >= 0 && x < layout.width && y >= layout.label && y < layout.height).toBe(true);
          expect(cellAt(layout, { x: x + 0.5, y: y + 0.5 })).toBe(cell);
          places.add(`${x} ${y}`);
        }
        expect(places.size).toBe(groups.reduce((sum, size) => sum + size, 0));
      }),
    );
  });

  it('fills most of the view, however many groups there are', () => {
    for (const groups of [
      [100_000],
      [40_000, 30_000, 20_000, 10_000],
      Array(500).fill(200),
      [90_000, ...Array(50).fill(200)],
    ]) {
      const layout = layOut(groups, VIEW, groups.length > 1);
      const { scale } = wholeMap(layout, VIEW);
      expect((layout.cells * scale * scale) / (VIEW.width * VIEW.height), `${groups.length} groups`).toBeGreaterThan(
        0.35,
      );
    }
  });

  it('finds the cells of a rectangle, whichever its corners', () => {
    fc.assert(
      fc.property(counts, fc.nat(), fc.nat(), (groups, one, other) => {
        const layout = layOut(groups, VIEW, true);
        const [a, b] = [positionOf(layout, one % layout.cells), positionOf(layout, other % layout.cells)];
        const inside = all(layout.cells).filter((cell) => {
          const { x, y } = positionOf(layout, cell);
          return (x - a.x) * (x - b.x) <= 0 && (y - a.y) * (y - b.y) <= 0;
        });
        expect(cellsBetween(layout, a, b)).toEqual(inside);
        expect(cellsBetween(layout, b, a)).toEqual(inside);
      }),
    );
  });

  it('has neighbours in every direction, and ends at its edges', () => {
    const layout = layOut([10, 4], { width: 96, height: 96 }, true);
    expect(neighbour(layout, 0, { x: -1, y: 0 })).toBe(0);
    expect(neighbour(layout, 9, { x: 1, y: 0 })).toBe(10);
    expect(neighbour(layout, 13, { x: 1, y: 0 })).toBe(13);
    const below = neighbour(layout, 0, { x: 0, y: 1 });
    expect(positionOf(layout, below)).toEqual({ x: positionOf(layout, 0).x, y: positionOf(layout, 0).y + 1 });
    expect(neighbour(layout, below, { x: 0, y: -1 })).toBe(0);
    expect(neighbour(layout, 0, { x: 0, y: -1 })).toBe(0);
  });

  it('of nothing is nothing', () => {
    const layout = layOut([], VIEW, false);
    expect(cellAt(layout, { x: 0, y: 0 })).toBeNull();
    expect(cellsBetween(layout, { x: -5, y: -5 }, { x: 5, y: 5 })).toEqual([]);
  });
});

describe('the view of a map', () => {
  const map = { width: 400, height: 300 };
  const sizes = { map, view: VIEW };

  it('zooms around the pointer', () => {
    const start = zoom(wholeMap(map, VIEW), 6, { x: 500, y: 300 }, sizes);
    const at = { x: 300, y: 200 };
    const [before, after] = [toMap(start, at), toMap(zoom(start, 1.5, at, sizes), at)];
    expect(after.x).toBeCloseTo(before.x);
    expect(after.y).toBeCloseTo(before.y);
  });

  it('never leaves the map, nor grows or shrinks without end', () => {
    const far = pan(zoom(wholeMap(map, VIEW), 10, { x: 0, y: 0 }, sizes), { x: -1e6, y: -1e6 }, sizes);
    expect(far.x + VIEW.width / far.scale).toBeCloseTo(map.width);
    expect(far.y + VIEW.height / far.scale).toBeCloseTo(map.height);
    expect(zoom(far, 1e6, { x: 0, y: 0 }, sizes).scale).toBe(48);
    expect(zoom(far, 1e-6, { x: 0, y: 0 }, sizes).scale).toBe(1);
  });

  it('moves to have a cell in view, and no further', () => {
    const start = zoom(wholeMap(map, VIEW), 10, { x: 0, y: 0 }, sizes);
    expect(reveal(start, { x: start.x + 5, y: start.y + 5 }, sizes)).toEqual(start);
    const moved = reveal(start, { x: 399, y: 299 }, sizes);
    expect(moved.x + VIEW.width / moved.scale).toBeGreaterThanOrEqual(400);
    expect(moved.y + VIEW.height / moved.scale).toBeGreaterThanOrEqual(300);
  });
});

describe('the data of a map', () => {
  const response = {
    count: 3,
    legend: [
      { name: 'fine', label: 'Fine' },
      { name: 'offline', label: 'Offline' },
    ],
    groups: [
      { name: 'lab', title: 'lab', cells: 2 },
      { name: 'web', title: 'web', cells: 2 },
    ],
    ids: [5, 7, 7, 9],
    values: '0110',
  };
  const data = toMapData('state', response);

  it('counts each computer once in all, and in each of its groups', () => {
    expect(countValues(data)).toEqual({
      groups: [
        [1, 1],
        [1, 1],
      ],
      all: [2, 1],
    });
    expect(computersOf(data, [2, 1, 0])).toEqual([5, 7]);
  });

  it('takes over the values of single computers, in all of their cells', () => {
    const next = patched(data, [7, 11], { ids: [7], values: '0' })!;
    expect([...next.values]).toEqual([0, 0, 0, 0]);
    expect(changedCells(data.values, next.values)).toEqual([1, 2]);
    expect(next.ids).toBe(data.ids);
  });

  it('has to be read as a whole when a computer has come or gone', () => {
    expect(patched(data, [7], { ids: [], values: '' })).toBeNull();
    expect(patched(data, [11], { ids: [11], values: '0' })).toBeNull();
  });

  it('stays the same object as far as a new response is the same', () => {
    expect(toMapData('state', { ...response, values: '1111' }, data).ids).toBe(data.ids);
    expect(toMapData('contact', response, data).ids).not.toBe(data.ids);
    expect(toMapData('state', { ...response, ids: [5, 7, 7, 8] }, data).ids).not.toBe(data.ids);
  });
});

describe('events and the map', () => {
  const event = (type: string, data: object) => ({ type, data }) as unknown as CloudEvent;

  it('make only those computers stale that they are about', () => {
    const alert = event('alert.raised', { computer_id: 7, alert_type: 'ComputerRebootAlert' });
    expect(staleBy(alert, 'state', '')).toEqual(new Set([7]));
    expect(staleBy(alert, 'contact', '')).toBe(NOTHING);
    expect(staleBy(alert, 'contact', 'alert:computer-reboot')).toEqual(new Set([7]));
    const ended = event('operation.ended', { computer_id: 8, activity_id: 3 });
    expect(staleBy(ended, 'activity:3', '')).toEqual(new Set([8]));
    expect(staleBy(ended, 'activity:33', '')).toBe(NOTHING);
    expect(staleBy(event('log.recorded', {}), 'state', 'web')).toBe(NOTHING);
  });

  it('make all of it stale when groups may have changed, or many computers', () => {
    expect(staleBy(event('computer.removed', { computer_id: 7 }), 'state', '')).toBe('all');
    expect(staleBy(event('computer.changed', { computer_id: 7, changed: ['tags'] }), 'contact', '')).toBe('all');
    expect(staleBy(event('computer.changed', { computer_id: 7, changed: ['title'] }), 'state', '')).toEqual(
      new Set([7]),
    );
    expect(both(new Set([1]), new Set([2]))).toEqual(new Set([1, 2]));
    expect(both(new Set(all(60)), new Set(all(120)))).toBe('all');
  });

  it('are read by a query that is narrowed down to the computers', () => {
    expect(queryOfIds('tag:a OR tag:b', [1, 2])).toBe('tag:a OR tag:b id:1 OR id:2');
    expect(queryOfIds('', [1])).toBe('id:1');
  });
});
