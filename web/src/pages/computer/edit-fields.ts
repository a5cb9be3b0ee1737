import type { components } from '@flotilla/client';

/** What the form about a computer has in its fields. */
export interface EditFields {
  title: string;
  comment: string;
  /** Separated by spaces or commas. */
  tags: string;
  access_group: string;
}

type Edited = Pick<components['schemas']['ComputerDetail'], 'title' | 'comment' | 'tags' | 'access_group'>;

/** The fields as the computer has them now. */
export function fieldsOf({ title, comment, tags, access_group }: Edited): EditFields {
  return { title, comment, tags: tags.join(' '), access_group };
}

/** Only what differs, so that nothing is undone that someone else has changed meanwhile. */
export function changesOf(computer: Edited, fields: EditFields): components['schemas']['ComputerEdit'] {
  const tags = [...new Set(fields.tags.split(/[\s,]+/).filter((tag) => tag !== ''))];
  const haveTagsChanged = [...tags].sort().join(' ') !== [...computer.tags].sort().join(' ');
  return {
    ...(fields.title !== computer.title && { title: fields.title }),
    ...(fields.comment !== computer.comment && { comment: fields.comment }),
    ...(haveTagsChanged && { tags }),
    ...(fields.access_group !== computer.access_group && { access_group: fields.access_group }),
  };
}
