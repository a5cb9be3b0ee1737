export const EXECUTE_SCRIPT = 'ExecuteScriptRequest';

/** Allowed for the report after the time limit. @see docs/api-conventions.md#triggers-and-runs */
export const RESULT_GRACE_SECONDS = 600;

export const NO_RESULT = 'The computer did not answer within 10 minutes after the time limit of the script.';

/** First line of the result text by the agent's code. @see docs/agent-protocol.md#scripts */
export const SCRIPT_FAILURES: Readonly<Record<number, string>> = {
  102: 'The script reached its time limit and was killed.',
  103: 'The script ended with a non-zero exit code.',
  104: 'An attachment of the script could not be fetched.',
};

/** The displayed result: a failed script gets a line with the reason before its unchanged output. */
export function shownResult(operation: {
  type: string;
  result_code: number | null;
  result_text: string | null;
}): string | null {
  const { type, result_code, result_text } = operation;
  const words = type === EXECUTE_SCRIPT && result_code !== null ? SCRIPT_FAILURES[result_code] : undefined;
  if (words === undefined) return result_text;
  return result_text ? `${words}\n${result_text}` : words;
}
