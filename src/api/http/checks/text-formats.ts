import { DomainError } from '../../../domain/common/errors.ts';
import { parseInstant } from '../../../domain/common/instant.ts';
import { isCronProblem, parseCron } from '../../../domain/schedules/cron.ts';
import { isProblem, parseRule } from '../../../domain/schedules/recurrence-rule.ts';
import { isAttachmentName } from '../../../domain/scripts/script.ts';
import { readEmail, readLine, readTimezone } from '../../../services/common/fields.ts';
import { readAnnotationKey, readTags } from '../../../services/common/tag-fields.ts';
import { readScheduleMoment } from '../../../services/schedules/recurring-dates.ts';
import { readBase64, readScriptBody, readUsername } from '../../../services/scripts/fields.ts';

/** Returns what is wrong with a text, or null. */
type TextFormat = (text: string) => string | null;

/** The values of `x-format`: rules of services that a pattern cannot express, or not readably. */
export const TEXT_FORMATS: Readonly<Record<string, TextFormat>> = {
  line: errorMessageOf((text) => readLine('', text)),
  email: errorMessageOf((text) => readEmail('', text)),
  tag: errorMessageOf((text) => readTags('', [text])),
  'annotation-key': errorMessageOf((text) => readAnnotationKey('', text)),
  'file-name': (text) => (isAttachmentName(text) ? null : 'must be the name of a file'),
  base64: (text) => (readBase64(text) === null ? 'must be base64' : null),
  'time-zone': errorMessageOf((text) => readTimezone('', text)),
  username: errorMessageOf(readUsername),
  'script-code': errorMessageOf(readScriptBody),
  moment: (text) => (parseInstant(text) ? null : 'must be an ISO 8601 date, or date and time'),
  'schedule-moment': errorMessageOf((text) => readScheduleMoment('', text)),
  cron(text) {
    const cron = parseCron(text);
    return isCronProblem(cron) ? cron.problem : null;
  },
  'recurrence-rule'(text) {
    const rule = parseRule(text);
    return isProblem(rule) ? rule.message : null;
  },
};

function errorMessageOf(read: (text: string) => unknown): TextFormat {
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
