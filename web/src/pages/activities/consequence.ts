import type { Activity, Group } from './activity-queries.ts';
import { type Counts, waitingOf } from './counts.ts';

/** An activity, how far it is, and its counters if it is a group; null for what it does not have. */
export interface Progressing {
  activity: Activity;
  group: Pick<Group, 'children_count' | 'computer_count'> | null;
  counts: Counts | null;
}

/** What happens when the person goes on with an action. */
export function consequence(verb: 'approve' | 'cancel' | 'revert' | 'reapply', progressing: Progressing): string {
  const total = progressing.group?.computer_count ?? progressing.counts?.total ?? 0;
  switch (verb) {
    case 'approve':
      return `It is sent to ${computers(total)} ${progressing.activity.deliver_after_time ? 'when its time has come' : 'at once'}.`;
    case 'cancel':
      return cancelText(progressing);
    case 'revert':
      return 'What it has changed is undone at once on the computers where it succeeded, by a new activity.';
    case 'reapply':
      return `The same is done once more on ${computers(total)}, by a new activity.`;
  }
}

function cancelText({ group, counts }: Progressing): string {
  // Steps are not computers: several belong to each.
  if (counts === null || (group && group.children_count > group.computer_count)) {
    return 'What has not started will not start. What has started may still finish.';
  }
  const sentences = [
    [waitingOf(counts), 'will not receive it.'],
    [counts.delivered, 'received it already and may still carry it out.'],
  ] as const;
  const shown = sentences.filter(([count]) => count > 0).map(([count, text]) => `${capital(computers(count))} ${text}`);
  return shown.length > 0 ? shown.join(' ') : 'Nothing of it is left to do.';
}

const computers = (count: number) => (count === 1 ? 'one computer' : `${count.toLocaleString()} computers`);
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
