import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Report } from './binary-resolver.ts';
import { runTool, type ToolOptions } from './run-tool.ts';
import { TEMPORAL_SERVER_VERSION } from './versions.ts';

const RELEASES = 'https://github.com/temporalio/temporal/releases/download';
const FILES = ['temporal-server', 'temporal-sql-tool'];
const RESPONSE_LIMIT_MS = 20_000;
const LIMIT_MS = 10 * 60_000;
const UNPACK_LIMIT_MS = 60_000;

/**
 * Downloads the server and its schema tool from the official release into the directory.
 * @param releases - base address of the releases
 * @throws when the download fails, or there is none for this machine
 */
export async function downloadOfficial(
  directory: string,
  { report, env, signal }: Pick<ToolOptions, 'env' | 'signal'> & { report: Report },
  releases = RELEASES,
): Promise<void> {
  report(`downloading the official Temporal server ${TEMPORAL_SERVER_VERSION}, once; it has no web UI`);
  const platform = `linux_${arch() === 'arm64' ? 'arm64' : 'amd64'}`;
  const url = `${releases}/v${TEMPORAL_SERVER_VERSION}/temporal_${TEMPORAL_SERVER_VERSION}_${platform}.tar.gz`;
  const archive = join(directory, 'release.tar.gz');
  const limit = new AbortController();
  const timeout = setTimeout(() => limit.abort(new Error('no response')), RESPONSE_LIMIT_MS);
  const ended = AbortSignal.any([limit.signal, AbortSignal.timeout(LIMIT_MS), ...(signal ? [signal] : [])]);
  try {
    const response = await fetch(url, { signal: ended }).catch((error: Error) => {
      throw new Error(`${url}: ${error.cause instanceof Error ? error.cause.message : error.message}`);
    });
    clearTimeout(timeout);
    if (!response.ok || !response.body) throw new Error(`${url}: status ${response.status}`);
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(archive), { signal: ended });
    await runTool('tar', ['-xzf', archive, '-C', directory, ...FILES], { env, limitMs: UNPACK_LIMIT_MS, signal });
  } finally {
    clearTimeout(timeout);
    await rm(archive, { force: true });
  }
}
