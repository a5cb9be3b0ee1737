import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/process/logger.ts';

describe('the log', () => {
  it('shows the code of an error, but not of a script', () => {
    const directory = mkdtempSync(join(tmpdir(), 'flotilla-logger-'));
    try {
      const file = join(directory, 'log');
      const logger = createLogger({ level: 'info', role: 'test', file });
      logger.info({
        err: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
        script: { code: 'echo canary' },
      });
      const text = readFileSync(file, 'utf8');
      expect(JSON.parse(text)).toMatchObject({
        err: { type: 'Error', message: 'refused', errorCode: 'ECONNREFUSED' },
        script: { code: '[redacted]' },
      });
      expect(text).not.toContain('canary');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
