import type { SavedSearchView } from '../../services/setup/views.ts';

export function toSavedSearchResponse({ name, title, search }: SavedSearchView) {
  return { name, title, search };
}
