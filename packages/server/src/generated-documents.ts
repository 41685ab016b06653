export function generatedDocuments(): { path: string; content: string }[] {
  return []
}
