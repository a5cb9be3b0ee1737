/** The computers of a profile, as forms have them. */
export interface ScopeDraft {
  allComputers: boolean;
  /** Separated by commas or spaces. */
  tags: string;
}

/** The single tags of a field. */
export function tagList(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((tag) => tag !== ''))];
}
