import { DomainError } from '../../../domain/common/errors.ts';
import { parseInstant } from '../../../domain/common/instant.ts';
import { isCronProblem, parseCron } from '../../../domain/schedules/cron.ts';
import { isProblem, parseRule } from '../../../domain/schedules/recurrence-rule.ts';
import { isAttachmentName } from '../../../domain/scripts/script.ts';
import { readAnnotationKey, readTags } from '../../../services/common/tag-fields.ts';
import { readEmail, readLine, readTimezone } from '../../../services/common/fields.ts';
import { readScheduleMoment } from '../../../services/schedules/moments.ts';
import { readBase64, readScriptBody, readUsername } from '../../../services/scripts/fields.ts';

/** What is wrong with a text, or null. */
export type TextFormat = (text: string) => string | null;

/**
 * Formats that the document names by `x-format`: rules of services that a pattern cannot say, or not in words that a
 * person understands.
 */
export const TEXT_FORMATS: Readonly<Record<string, TextFormat>> = {
  line: refusalOf((text) => readLine('', text)),
  email: refusalOf((text) => readEmail('', text)),
  tag: refusalOf((text) => readTags('', [text])),
  'annotation-key': refusalOf((text) => readAnnotationKey('', text)),
  'file-name': (text) => (isAttachmentName(text) ? null : 'must be the name of a file'),
  base64: (text) => (readBase64(text) === null ? 'must be base64' : null),
  'time-zone': refusalOf((text) => readTimezone('', text)),
  username: refusalOf(readUsername),
  'script-code': refusalOf(readScriptBody),
  moment: (text) => (parseInstant(text) ? null : 'must be an ISO 8601 date, or date and time'),
  'schedule-moment': refusalOf((text) => readScheduleMoment('', text)),
  cron(text) {
    const cron = parseCron(text);
    return isCronProblem(cron) ? cron.problem : null;
  },
  'recurrence-rule'(text) {
    const rule = parseRule(text);
    return isProblem(rule) ? rule.message : null;
  },
};

function refusalOf(read: (text: string) => unknown): TextFormat {
  return (text) => {
    try {
      read(text);
      return null;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return error.details?.[0]?.message ?? error.message;
    }
  };
}
