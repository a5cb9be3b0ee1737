import type { Random } from '../../simulator/random.ts';
import type { Session } from './session.ts';

/** One thing that an administrator or a computer does. */
export type Action = (session: Session, random: Random) => Promise<void>;
