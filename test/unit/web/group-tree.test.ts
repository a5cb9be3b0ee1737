import { describe, expect, it } from 'vitest';
import { flatTree, groupTree } from '../../../web/src/pages/people/group-tree.ts';

const group = (name: string, parent: string, title = name) => ({ name, title, parent, children: '' });
const outline = (groups: Parameters<typeof groupTree>[0]) =>
  flatTree(groupTree(groups)).map(({ group: { name }, depth }) => `${depth} ${name}`);

describe('the tree of access groups', () => {
  it('has groups below their parents, in the order of their titles', () => {
    const groups = [
      group('global', ''),
      group('b', 'global', 'Zürich'),
      group('c', 'b'),
      group('a', 'global', 'Aachen'),
    ];
    expect(outline(groups)).toEqual(['0 global', '1 a', '1 b', '2 c']);
  });

  it('has groups at the top whose parent is not in the list', () => {
    expect(outline([group('c', 'hidden'), group('d', 'c')])).toEqual(['0 c', '1 d']);
  });
});
