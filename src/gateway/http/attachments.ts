import type { Request, Response } from 'express';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import type { Database } from '../../persistence/database/sql.ts';
import { readAttachmentFor } from '../../persistence/scripts/script-attachments.repository.ts';
import { hashSecureId } from '../enrolment/secure-id.ts';
import { isElsewhere, recordDoubts } from '../exchange/doubts.ts';
import type { ClientAddress } from './client-address.ts';
import { Refusal } from './refusal.ts';
import { sendBytes } from './send.ts';

/**
 * GET /attachment/<id>: a file of a script for the computer that presents its identity and has been given the script.
 *
 * @throws {Refusal} 404 for everybody who may not read it, whether it exists or not
 */
export function attachmentRoute(db: Database, clientAddress: ClientAddress) {
  return async (req: Request, res: Response): Promise<void> => {
    const computer = await findComputer(db, req.headers['x-computer-id']);
    const attachmentId = readId(String(req.params['id']));
    const bytes = computer && attachmentId ? await readAttachmentFor(db, computer.id, attachmentId) : null;
    if (!computer || !bytes) throw new Refusal(404, 'NotFound', 'There is no such attachment');
    await noteAddress(db, computer, clientAddress(req));
    sendBytes(res, bytes);
  };
}

function readId(text: string): number | null {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : null;
  return id !== null && id <= MAX_INT4 ? id : null;
}

/** A file from another address than the last exchange raises the alert about duplicates before it is sent. */
async function noteAddress(db: Database, computer: IdentifiedComputer, address: string): Promise<void> {
  if (!isElsewhere(computer.last_address, address)) return;
  const { id: computerId, account_id: accountId, title } = computer;
  const what = `fetched a file of a script from ${address}, another address than that of its last exchange`;
  await recordDoubts(db, [{ computerId, accountId, title, address, what }]);
}

interface IdentifiedComputer extends Record<string, unknown> {
  id: number;
  account_id: number;
  title: string;
  last_address: string | null;
}

async function findComputer(db: Database, secureId: string | string[] | undefined): Promise<IdentifiedComputer | null> {
  if (typeof secureId !== 'string' || secureId === '') return null;
  const [row] = await db.query<IdentifiedComputer>(
    `select c.id, c.account_id, c.title, s.last_address
     from agent_identity i join computer c on c.id = i.computer_id join agent s on s.computer_id = c.id
     where i.secure_id_hash = $1 and c.state = 'approved' and not c.archived`,
    [hashSecureId(secureId)],
    'gateway-find-computer',
  );
  return row ?? null;
}
