/** A file that someone uploaded to the sub-account. */
export type UploadedFile = {
  readonly id: string
  readonly name: string
  readonly sizeBytes: number
  /** Bytes of each piece except the last. */
  readonly chunkBytes: number
}

/** Uploaded files of the sub-account, for a connector that declares `readsUploads`. For any other one, every call ends the job. */
export type Uploads = {
  /** Files whose names contain a text, in any letter case, newest first. @param page maximum number, and the number to skip */
  find(
    search: string,
    page: { readonly size: number; readonly offset: number },
  ): Promise<readonly Pick<UploadedFile, 'id' | 'name'>[]>
  /** The file with this identifier; undefined if it does not exist in the sub-account. */
  open(id: string): Promise<UploadedFile | undefined>
  /** A piece of a file, counted from 0; undefined if the file was deleted. Throws if it was altered. */
  read(id: string, number: number): Promise<Uint8Array | undefined>
}
