import { describe, expect, it } from 'vitest';
import { readHardwareReport } from '../../../../src/gateway/facts/hardware.ts';
import { processorMs } from '../../../support/common/process.ts';

describe('a hardware report of a mebibyte', () => {
  const SIZE = 1024 * 1024;
  it.each([
    '<node id="',
    '<node id=\'<node id="',
    '<node id="x" ',
    '<',
    '&',
    '&#',
    '</node',
    '<node a="\' \'<node a=\'" "',
    '<node id="x" class="y"/>',
    '<product>x</product>',
    '<![CDATA[',
    '<!-- ',
    '<node     ',
  ])('of nothing but %j is read in little time', async (part) => {
    const data = part.repeat(Math.ceil(SIZE / part.length));
    expect(await processorMs(() => readHardwareReport(data))).toBeLessThan(2000);
  });

  it('that is larger is read as far as that', () => {
    const data = `<list>${'<node id="x" class="y"><product>P</product></node>'.repeat(30_000)}</list>`;
    expect(readHardwareReport(data)?.flat).toHaveLength(10_000);
  });
});
