import type { RequestToCopy } from '../../ui/shell-text.ts';
import { formatDelivery, type Delivery } from './delivery.ts';
import type { Target } from '../targets.ts';

/** One request of an action. */
export interface ActionRequest extends RequestToCopy {
  /** The computer that it is for, if it is for one of several. */
  computer?: Pick<Target, 'id' | 'title'>;
}

/** What an action does: its requests in their order, and the same for a shell. */
export interface Plan {
  requests: readonly ActionRequest[];
  /** `flotilla` commands that do the same; each request as `flotilla api` without them. */
  command?: readonly string[];
  /** What brings back what the computers had before; null where there is nothing to bring back. */
  undo?: readonly ActionRequest[] | null;
}

/** What a plan is made of. */
export interface PlanInput<F> {
  fields: F;
  targets: readonly Target[];
  delivery: Delivery;
  /** How a command chooses the computers: `--id 1,2` or `-q QUERY`. */
  chosenBy: readonly string[];
}

export const idsOf = (targets: readonly Target[]): number[] => targets.map(({ id }) => id);

export const post = (path: string, body: unknown): ActionRequest => ({ method: 'POST', path, body });

/** A request for each computer. */
export function postEach(
  targets: readonly Target[],
  path: (id: number) => string,
  body: (target: Target) => unknown,
): ActionRequest[] {
  return targets.map((target) => {
    const { id, title } = target;
    return { ...post(path(id), body(target)), computer: { id, title } };
  });
}

interface CommandParts {
  /** Such as `snaps install`. */
  name: string;
  args?: readonly string[];
  options?: ReadonlyArray<string | false>;
  delivery?: Delivery;
}

/** The words of a command. Arguments that begin with a dash come last, behind the mark that they are no options. */
export function commandOf({ name, args = [], options = [], delivery }: CommandParts): string[] {
  const rest = [...options.filter((option) => option !== false), ...(delivery ? formatDelivery(delivery) : [])];
  const isAmbiguous = args.some((argument) => argument.startsWith('-'));
  return [...name.split(' '), ...(isAmbiguous ? [...rest, '--', ...args] : [...args, ...rest])];
}

/** The names in a text, which commas or white space separate, each once. */
export function namesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
}
