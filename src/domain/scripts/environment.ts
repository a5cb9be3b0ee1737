export const SCRIPT_MESSAGE = 'execute-script';

interface RunOrigin {
  creatorId: number;
  now: Date;
}

type Environment = Record<string, string>;

/** Variables that are the same on all computers of a run. @see docs/agent-protocol.md#scripts */
export function runEnvironment(run: RunOrigin & { accountName: string }, publicUrl: string): Environment {
  return { LANDSCAPE_ACCOUNT: run.accountName, LANDSCAPE_URL: publicUrl, ...originEnvironment(run) };
}

/** Variables of one computer, with its tags at the time when its message is created. */
export function computerEnvironment(
  activityId: number,
  { computerId, tags }: { computerId: number; tags: readonly string[] },
): Environment {
  return {
    LANDSCAPE_COMPUTER_ID: String(computerId),
    LANDSCAPE_COMPUTER_TAGS: tags.join(','),
    LANDSCAPE_ACTIVITY_ID: String(activityId),
  };
}

/** Replaces the creator in a message that another person repeats; scripts receive it in their environment. */
export function withRunOrigin<T extends { type: string; fields: Readonly<Record<string, unknown>> }>(
  message: T,
  origin: RunOrigin,
): T {
  if (message.type !== SCRIPT_MESSAGE) return message;
  const env = { ...(message.fields['env'] as Environment | undefined), ...originEnvironment(origin) };
  return { ...message, fields: { ...message.fields, env } };
}

function originEnvironment({ creatorId, now }: RunOrigin): Environment {
  return {
    LANDSCAPE_ACTIVITY_CREATOR_ID: String(creatorId),
    LANDSCAPE_ACTIVITY_CREATION_TIME: `${now.toISOString().slice(0, 19)}Z`,
  };
}
