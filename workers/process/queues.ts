import { ConfigError } from '../../src/process/config.ts';
import { TASK_QUEUES, type TaskQueue } from '../../workflows/contracts/task-queues.ts';

const ALL: readonly TaskQueue[] = Object.values(TASK_QUEUES);

/** The task queues to serve: all, or those after `--queues`, separated by commas. @throws {ConfigError} if unknown */
export function chooseQueues(args: readonly string[]): readonly TaskQueue[] {
  if (args.length === 0) return ALL;
  const [flag, list, ...rest] = args[0]!.startsWith('--queues=') ? args[0]!.split('=') : args;
  if (flag !== '--queues' || !list || rest.length > 0) {
    throw new ConfigError([`usage: --queues <queue>[,<queue>], of ${ALL.join(', ')}`]);
  }
  const chosen = new Set<TaskQueue>();
  for (const name of list.split(',')) {
    const known = ALL.find((queue) => queue === name.trim());
    if (!known) throw new ConfigError([`unknown task queue "${name}"; there are ${ALL.join(', ')}`]);
    chosen.add(known);
  }
  return [...chosen];
}
