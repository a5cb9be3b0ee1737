import type { PendingComputerView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.wire.ts';

export function toPendingComputerResponse(computer: PendingComputerView) {
  return { ...computer, creation_time: formatTime(computer.creation_time) };
}
