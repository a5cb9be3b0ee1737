import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createLogSink } from '../../../src/process/log-sink.ts';

const directory = mkdtempSync(join(tmpdir(), 'flotilla-log-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Both ends of a named pipe; nobody reads unless the test does. */
function aPipe(): { read: number; write: number } {
  const path = join(directory, `pipe-${crypto.randomUUID()}`);
  execFileSync('mkfifo', [path]);
  // Opened for both, so that opening waits for nobody.
  const read = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return { read, write: openSync(path, 'w') };
}

const LINE = `${'x'.repeat(1023)}\n`;

describe('the log sink', () => {
  it('DISK-full: a file that cannot be written loses lines beyond the buffer and nothing else', () => {
    const fd = openSync('/dev/full', 'w');
    const line = '{"msg":"hello"}\n';
    const sink = createLogSink(fd, { maxBufferedBytes: 2 * line.length });
    for (let n = 0; n < 5; n++) sink.write(line);
    expect(sink.dropped()).toBe(3);
    closeSync(fd);
  });

  it('STDOUT-blocked: an unread pipe blocks nobody, and reports the dropped lines when it is read again', async () => {
    const pipe = aPipe();
    const sink = createLogSink(pipe.write, { maxBufferedBytes: 8 * LINE.length, retryMs: 5 });
    for (let n = 0; n < 2000; n++) sink.write(LINE);
    expect(sink.dropped()).toBeGreaterThan(1000);
    const dropped = sink.dropped();
    let text = '';
    const buffer = Buffer.alloc(65_536);
    const read = () => {
      text += buffer.toString('latin1', 0, readSync(pipe.read, buffer));
      expect(text).toMatch(/log lines were dropped.*\n$/);
    };
    await vi.waitFor(read, { timeout: 20_000, interval: 5 });
    const lines = text.trimEnd().split('\n');
    expect(JSON.parse(lines.pop()!)).toMatchObject({ level: 40, lost: dropped });
    expect(new Set(lines)).toEqual(new Set([LINE.trimEnd()]));
    expect(lines.length + dropped).toBe(2000);
    closeSync(pipe.read);
    closeSync(pipe.write);
  });

  it('STDOUT-closed: a process whose reader has ended keeps working', async () => {
    const done = join(directory, 'done');
    const program = `
      import { once } from 'node:events';
      import { writeFileSync } from 'node:fs';
      import { setImmediate } from 'node:timers/promises';
      import { createLogger } from './src/process/logger.ts';
      const logger = createLogger({ level: 'info', role: 'test' });
      logger.info('line');
      await once(process.stdin.resume(), 'end');
      for (let n = 0; n < 500; n++) { logger.info({ n }, 'line'); await setImmediate(); }
      writeFileSync(process.argv[1], 'still here');`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program, done], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    child.stderr.once('data', () => child.stderr.destroy()).once('close', () => child.stdin.end());
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
    expect(existsSync(done) && readFileSync(done, 'utf8')).toBe('still here');
  });
});
