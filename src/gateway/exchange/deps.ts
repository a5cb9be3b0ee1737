import type { Database } from '../../persistence/database/sql.ts';
import type { ConcurrencyLimiter } from '../../process/admission/concurrency-limiter.ts';
import type { EncryptionKey } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { ContactBuffer } from '../contact/contact-buffer.ts';
import type { PackageCatalogue } from '../facts/package-catalogue.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import type { ExchangeStore } from './exchange-store.ts';
import type { OperationTraces } from './operation-traces.ts';
import type { ExchangePayload } from './payload.ts';

export interface ExchangeDeps {
  db: Database;
  logger: Logger;
  clock: Clock;
  limiter: ConcurrencyLimiter;
  store: ExchangeStore;
  contacts: ContactBuffer;
  catalogue: PackageCatalogue;
  metrics: GatewayMetrics;
  traces: OperationTraces;
  /** How many computers may poll fast at a time. */
  maxFast: number;
  encryptionKeys: readonly EncryptionKey[];
  /** Identifies this deployment to agents; never changes. */
  serverUuid(): Promise<string>;
}

export interface IdentifiedRequest {
  secureIdHash: Buffer;
  token: string | null;
  body: Buffer;
  address: string;
  payload: ExchangePayload & { sequence: number };
}
