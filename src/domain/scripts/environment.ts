/** Type of the message that makes an agent run a script. */
export const SCRIPT_MESSAGE = 'execute-script';

/** Who started a run, and when. */
export interface RunOrigin {
  /** Id of a person. */
  creatorId: number;
  now: Date;
}

type Environment = Record<string, string>;

/** Variables of a run beside those that differ from computer to computer. @see docs/agent-protocol.md#scripts */
export function runEnvironment(run: RunOrigin & { accountName: string }, publicUrl: string): Environment {
  return { LANDSCAPE_ACCOUNT: run.accountName, LANDSCAPE_URL: publicUrl, ...orderEnvironment(run) };
}

/** Variables of one computer's part of a run, its tags as they are when it is given the message. */
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

/** A message to be repeated by another person; a script learns of it by its environment. */
export function withRunOrigin<T extends { type: string; fields: Readonly<Record<string, unknown>> }>(
  message: T,
  order: RunOrigin,
): T {
  if (message.type !== SCRIPT_MESSAGE) return message;
  const env = { ...(message.fields['env'] as Environment | undefined), ...orderEnvironment(order) };
  return { ...message, fields: { ...message.fields, env } };
}

function orderEnvironment({ creatorId, now }: RunOrigin): Environment {
  return {
    LANDSCAPE_ACTIVITY_CREATOR_ID: String(creatorId),
    LANDSCAPE_ACTIVITY_CREATION_TIME: `${now.toISOString().slice(0, 19)}Z`,
  };
}
