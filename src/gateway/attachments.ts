import type { Request, Response } from 'express';
import type { Database } from '../persistence/sql.ts';
import { hashSecureId } from './enrolment/secure-id.ts';
import { Refusal } from './http/refusal.ts';

/** Where the files are that scripts bring along. */
export interface AttachmentReader {
  /**
   * The bytes of a file, or null when there is none or it belongs to no script that this computer was given.
   */
  read(computerId: number, attachmentId: number): Promise<Uint8Array | null>;
}

/**
 * GET /attachment/<id>: a file for the computer that presents its identity.
 *
 * @throws {Refusal} 404 for everybody who may not read it, whether it exists or not
 */
export function attachmentRoute(db: Database, reader: AttachmentReader | undefined) {
  return async (req: Request, res: Response): Promise<void> => {
    const computerId = await findComputer(db, req.headers['x-computer-id']);
    const attachmentId = /^\d{1,10}$/.test(String(req.params['id'])) ? Number(req.params['id']) : null;
    const bytes = computerId && attachmentId && reader ? await reader.read(computerId, attachmentId) : null;
    if (!bytes) throw new Refusal(404, 'NotFound', 'There is no such attachment');
    res.setHeader('Content-Type', 'application/octet-stream');
    res.end(bytes);
  };
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
