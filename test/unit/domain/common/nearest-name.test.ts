import { describe, expect, it } from 'vitest';
import { nearestName } from '../../../../src/domain/common/nearest-name.ts';

const NAMES = ['computer_ids', 'deliver_after', 'deliver_after_window', 'snaps', 'query', 'tag', 'id'];

describe('nearestName', () => {
  it.each([
    ['deliver_afer', 'deliver_after'],
    ['deliver_atfer', 'deliver_after'],
    ['deliverAfter', 'deliver_after'],
    ['deliver-after', 'deliver_after'],
    ['DELIVER_AFTER', 'deliver_after'],
    ['computer_id', 'computer_ids'],
    ['tags', 'tag'],
    ['snap', 'snaps'],
    ['qeury', 'query'],
    ['after', 'deliver_after'],
    ['window', 'deliver_after_window'],
  ])('finds for %s the name %s', (name, meant) => {
    expect(nearestName(name, NAMES)).toBe(meant);
  });

  it.each(['invented', 'x', 'ix', '', '__proto__', 'd'.repeat(65)])('finds nothing for %s', (name) => {
    expect(nearestName(name, NAMES)).toBeNull();
  });

  it('takes the nearest, and of equally near ones the first', () => {
    expect(nearestName('statis', ['static', 'status'])).toBe('static');
    expect(nearestName('tagz', ['tags', 'tag'])).toBe('tags');
    expect(nearestName('tag', ['tags', 'tag'])).toBe('tag');
  });
});
