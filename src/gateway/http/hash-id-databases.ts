import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../domain/common/errors.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { CODE_NAME, findHashIdDatabase, readHashIdDatabase } from '../../persistence/software/hash-id-databases.sql.ts';
import type { TokenBuckets } from '../../process/admission/token-buckets.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import { RESPONSE_HEADERS } from '../../process/http-response.ts';
import type { Clock } from '../../services/common/ports.ts';
import { rejectIfLimited, sendBytes } from './response.ts';

/** Of the files that a process keeps in memory. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024;

interface HashIdDatabaseDeps {
  db: Database;
  clock: Clock;
  clientAddress: ClientAddress;
  serverUuid(): Promise<string>;
  /** By address; null for no limit. */
  downloads: TokenBuckets | null;
}

/** GET /hash-id-databases/<server uuid>_<code name>_<architecture>, unauthenticated. @throws {DomainError} 404, 429 */
export function hashIdDatabaseRoute(deps: HashIdDatabaseDeps) {
  const cache = new LRUCache<string, Buffer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: (file) => file.length,
    // Requests that come meanwhile wait for the same read.
    fetchMethod: async (key) => {
      const [codeName, etag] = key.split('_') as [string, string];
      return (await readHashIdDatabase(deps.db, codeName, etag)) ?? undefined;
    },
  });
  return async (req: Request, res: Response): Promise<void> => {
    const codeName = parseName([req.params['name']].flat().join('/'), await deps.serverUuid());
    if (codeName === null) throw notFound();
    const { downloads, clock, clientAddress } = deps;
    rejectIfLimited(downloads?.take(clientAddress(req), 1, clock.now().getTime()) ?? 0, 'Too many downloads');
    const etag = await findHashIdDatabase(deps.db, codeName);
    if (etag === null) throw notFound();
    const quoted = `"${etag}"`;
    res.set('ETag', quoted);
    if (req.headers['if-none-match']?.includes(quoted)) {
      res.writeHead(304, RESPONSE_HEADERS).end();
      return;
    }
    const file = await cache.fetch(`${codeName}_${etag}`);
    // It was replaced at this moment; agents look for a file again.
    if (!file) throw notFound();
    sendBytes(res, file);
  };
}

/** The code name. One file serves all architectures. */
function parseName(name: string, serverUuid: string): string | null {
  const [, uuid, codeName] = NAME.exec(name) ?? [];
  return codeName !== undefined && uuid === serverUuid ? codeName : null;
}

const NAME = new RegExp(`^([0-9a-f-]{36})_(${CODE_NAME})_[a-z0-9-]{1,32}$`);

function notFound(): DomainError {
  return new DomainError('NotFound', 'There is no such database');
}
