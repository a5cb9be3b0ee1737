import type { Random } from '../../simulator/random.ts';
import type { Session } from './session.ts';

/** One action of an administrator or a computer. */
export type Action = (session: Session, random: Random) => Promise<void>;
