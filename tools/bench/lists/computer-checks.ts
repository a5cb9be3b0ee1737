import assert from 'node:assert/strict';
import type { BareRow, Item, Page } from './list-case.ts';

/** Asserts equality of the page's rows, the number of matches, and the children of its rows. */
export function checkPage(page: Page, [rows, totals, children]: ReadonlyArray<readonly BareRow[]>): void {
  assert.equal(page.count, Number(totals![0]!['count']), 'count');
  assert.equal(page.results.length, rows!.length, 'rows of the page');
  for (const [index, row] of rows!.entries()) checkComputer(page.results[index]!, row);
  const shown = page.results
    .flatMap((item) => item['children'] as Item[])
    .sort((a, b) => Number(a['id']) - Number(b['id']));
  assert.equal(shown.length, children!.length, 'children of the page');
  for (const [index, row] of children!.entries()) checkComputer(shown[index]!, row);
}

/** Columns that the nested shape expresses by its structure. */
const FAMILY = ['parent_id', 'is_default_child'];

function checkComputer(item: Item, row: BareRow): void {
  for (const [key, value] of Object.entries(row)) {
    if (!FAMILY.includes(key))
      assert.deepEqual(item[key], asShown(key, value), `${key} of computer ${String(row['id'])}`);
  }
}

function asShown(key: string, value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace(/\.\d+Z$/, 'Z');
  if (key === 'tags') return [...(value as string[])].sort();
  if (key === 'update_manager_prompt') return value ?? '';
  return value;
}

interface BlockSizes {
  key: string;
  size(value: unknown): number;
  worth(row: Item): number;
}

/** Asserts that the block of each computer is as large as its rows. */
export function checkBlock(page: Page, block: BlockSizes, rows: readonly BareRow[]): void {
  const worth = new Map<unknown, number>();
  for (const row of rows) worth.set(row['computer_id'], (worth.get(row['computer_id']) ?? 0) + block.worth(row));
  for (const item of page.results) {
    if (!worth.has(item['id'])) continue;
    assert.equal(block.size(item[block.key]), worth.get(item['id']), `${block.key} of computer ${String(item['id'])}`);
  }
}
