import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = globSync('{src,temporal,workflows,workers,packages,tools,test,web}/**/*.{ts,tsx,mjs}', {
  exclude: ['**/node_modules/**', '**/dist/**'],
});
const PAGES = globSync(['*.md', 'docs/**/*.md']);

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  const anchors = new Set<string>();
  for (const heading of headings) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    for (let n = 0; ; n += 1) {
      const anchor = n === 0 ? slug : `${slug}-${n}`;
      if (anchors.has(anchor)) continue;
      anchors.add(anchor);
      break;
    }
  }
  return anchors;
}

/** Why a reference to a file of the repository, with or without a heading, leads nowhere; null when it leads somewhere. */
function deadEnd(file: string, anchor: string | undefined): string | null {
  if (!existsSync(file)) return `there is no ${file}`;
  return anchor === undefined || anchorsOf(file).has(anchor) ? null : `${file} has no heading ${anchor}`;
}

describe('references', () => {
  it('of comments lead to a heading of the documentation, a symbol or an RFC', () => {
    const dead = SOURCES.flatMap((source) =>
      [...readFileSync(source, 'utf8').matchAll(/^\s*(?:\/\*\*|\*|\/\/).*@see (\S+)/gm)].flatMap(([, target]) => {
        if (target === 'RFC' || target!.startsWith('{@link')) return [];
        const [file, anchor] = target!.split('#');
        const reason = anchor === undefined ? 'names no heading' : deadEnd(file!, anchor);
        return reason === null ? [] : [`${source}: @see ${target}: ${reason}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  it('of pages lead to files and headings of this repository, or elsewhere', () => {
    const dead = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target]) => {
        if (/^[a-z]+:/.test(target!)) return [];
        const [file, anchor] = target!.split('#');
        const reason = deadEnd(file === '' ? page : join(dirname(page), file!), anchor);
        return reason === null ? [] : [`${page}: ${target}: ${reason}`];
      }),
    );
    expect(dead).toEqual([]);
  });

  it('of pages to source files name files that exist', () => {
    const dead = PAGES.filter((page) => page !== 'CHANGELOG.md').flatMap((page) =>
      [
        ...readFileSync(page, 'utf8').matchAll(
          /`((?:src|temporal|workers|workflows|packages|tools|test|docs|deploy|web)\/[\w./-]+)`/g,
        ),
      ]
        .map(([, file]) => file!)
        .filter((file) => !existsSync(file))
        .map((file) => `${page}: ${file}`),
    );
    expect(dead).toEqual([]);
  });
});
