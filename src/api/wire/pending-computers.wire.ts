import type { PendingComputerView } from '../../services/views.ts';
import { wireTime } from './time.wire.ts';

/** An item of the list of pending computers. */
export function wirePendingComputer(computer: PendingComputerView) {
  return { ...computer, creation_time: wireTime(computer.creation_time) };
}
