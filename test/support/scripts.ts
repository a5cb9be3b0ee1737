/** A valid body of POST /scripts. */
export const script = (over: object = {}) => ({ title: 'Say hello', code: '#!/bin/bash\necho hello\n', ...over });

/** Text as attachments carry it. */
export const base64 = (text: string) => Buffer.from(text).toString('base64');
