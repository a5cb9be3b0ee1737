/** JSON text, for example built in the database, that is sent without being parsed. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Bytes that are sent as they are, with their own media type. */
export class RawBody {
  readonly bytes: Uint8Array;
  readonly mediaType: string;

  constructor(bytes: Uint8Array, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
  }
}
