import type { Request, Response } from 'express';
import { DomainError } from '../../domain/common/errors.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { recordSuspectedClones } from '../../persistence/agents/clones.sql.ts';
import { findApprovedComputer, type IdentifiedComputer } from '../../persistence/agents/identities.sql.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { readAttachmentFor } from '../../persistence/scripts/script-attachments.sql.ts';
import type { ClientAddress } from '../../process/client-address.ts';
import { hashSecureId } from '../enrolment/identity.ts';
import { isOtherNetwork } from '../exchange/suspected-clones.ts';
import { sendBytes } from './response.ts';

/** GET /attachment/<id>: a script's file, for computers that were sent the script. @throws {DomainError} 404 for others */
export function attachmentRoute(db: Database, clientAddress: ClientAddress) {
  return async (req: Request, res: Response): Promise<void> => {
    const computer = await findComputer(db, req.headers['x-computer-id']);
    const attachmentId = parseId(String(req.params['id']));
    const bytes = computer && attachmentId ? await readAttachmentFor(db, computer.id, attachmentId) : null;
    if (!computer || !bytes) throw new DomainError('NotFound', 'There is no such attachment');
    await checkAddress(db, computer, clientAddress(req));
    sendBytes(res, bytes);
  };
}

function parseId(text: string): number | null {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : null;
  return id !== null && id <= MAX_INT4 ? id : null;
}

async function checkAddress(db: Database, computer: IdentifiedComputer, address: string): Promise<void> {
  if (!isOtherNetwork(computer.lastAddress, address)) return;
  const { id: computerId, accountId, title } = computer;
  const what = `fetched a file of a script from ${address}, another address than that of its last exchange`;
  await recordSuspectedClones(db, [{ computerId, accountId, title, address, what }]);
}

async function findComputer(db: Database, secureId: string | string[] | undefined): Promise<IdentifiedComputer | null> {
  if (typeof secureId !== 'string' || secureId === '') return null;
  return findApprovedComputer(db, hashSecureId(secureId));
}
