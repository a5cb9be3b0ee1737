import type { PendingComputerView } from '../../services/setup/views.ts';
import { wireTime } from '../common/time.wire.ts';

/** An item of the list of pending computers. */
export function wirePendingComputer(computer: PendingComputerView) {
  return { ...computer, creation_time: wireTime(computer.creation_time) };
}
