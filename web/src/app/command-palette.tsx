/** Goes to any page or action by typing; opened by Ctrl+K. */
export function CommandPalette() {
  return null;
}
