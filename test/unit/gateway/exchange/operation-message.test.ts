import { describe, expect, it } from 'vitest';
import { operationMessage } from '../../../../src/gateway/exchange/operation-messages.ts';

const computer = { computerId: 7, tags: [] };
const message = (fields: Record<string, unknown>, messageType = 'execute-script') =>
  operationMessage(3, { messageType, fields }, computer);

describe('the message of a script', () => {
  it.each([
    ['/bin/sh', 'echo a\nexit 0\n'],
    ['/mnt/c/Windows/System32/cmd.exe', 'echo a\r\nexit 0\r\n'],
  ])('for %s has the line ends that it takes', (interpreter, code) => {
    expect(message({ interpreter, code: 'echo a\r\nexit 0\r\n' })).toMatchObject({ interpreter, code });
  });

  it('leaves other operations as they are', () => {
    const fields = { action: 'audit', 'tailoring-file': ['a', '<a>\r\n</a>'] };
    expect(message(fields, 'usg')).toMatchObject(fields);
  });
});
