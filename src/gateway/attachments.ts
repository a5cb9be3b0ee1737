import type { Request, Response } from 'express';
import { MAX_INT4 } from '../domain/integers.ts';
import { readAttachmentFor } from '../persistence/repositories/script-attachments.repository.ts';
import type { Database } from '../persistence/sql.ts';
import { hashSecureId } from './enrolment/secure-id.ts';
import { Refusal } from './http/refusal.ts';
import { sendBytes } from './http/send.ts';

/**
 * GET /attachment/<id>: a file of a script for the computer that presents its identity and has been given the script.
 *
 * @throws {Refusal} 404 for everybody who may not read it, whether it exists or not
 */
export function attachmentRoute(db: Database) {
  return async (req: Request, res: Response): Promise<void> => {
    const computerId = await findComputer(db, req.headers['x-computer-id']);
    const attachmentId = readId(String(req.params['id']));
    const bytes = computerId && attachmentId ? await readAttachmentFor(db, computerId, attachmentId) : null;
    if (!bytes) throw new Refusal(404, 'NotFound', 'There is no such attachment');
    sendBytes(res, bytes);
  };
}

function readId(text: string): number | null {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : null;
  return id !== null && id <= MAX_INT4 ? id : null;
}

async function findComputer(db: Database, secureId: string | string[] | undefined): Promise<number | null> {
  if (typeof secureId !== 'string' || secureId === '') return null;
  const [row] = await db.query<{ id: number }>(
    `select c.id from agent_identity i join computer c on c.id = i.computer_id
     where i.secure_id_hash = $1 and c.state = 'approved' and not c.archived`,
    [hashSecureId(secureId)],
    'gateway-find-computer',
  );
  return row?.id ?? null;
}
