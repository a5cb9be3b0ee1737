/** A body, or a part of one, that is JSON text already: built in the database and passed through unparsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
