import type { Database } from '../../persistence/database/sql.ts';
import type { EncryptionKey } from '../../process/config.ts';
import type { Logger } from '../../process/logger.ts';
import type { Clock } from '../../services/common/ports.ts';
import type { ContactBuffer } from '../contact/contact-buffer.ts';
import type { PackageCatalogue } from '../facts/saving/package-catalogue.ts';
import type { Gate } from '../http/gate.ts';
import type { GatewayMetrics } from '../http/metrics.ts';
import type { OperationTraces } from './operation-traces.ts';
import type { ExchangePayload } from './request.ts';
import type { SessionStore } from './session-store.ts';

export interface ExchangeDeps {
  db: Database;
  logger: Logger;
  clock: Clock;
  /** Transactions under way. */
  gate: Gate;
  sessions: SessionStore;
  contacts: ContactBuffer;
  catalogue: PackageCatalogue;
  metrics: GatewayMetrics;
  traces: OperationTraces;
  encryptionKeys: readonly EncryptionKey[];
  /** Identifies this deployment to agents; stable for ever. */
  serverUuid(): Promise<string>;
}

export interface IdentifiedRequest {
  secureIdHash: Buffer;
  token: string | null;
  body: Buffer;
  /** Network address that it came from. */
  address: string;
  payload: ExchangePayload & { sequence: number };
}
