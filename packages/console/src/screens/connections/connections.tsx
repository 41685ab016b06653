import { Page } from '../../parts/page.tsx'
import { strings } from '../../strings/index.ts'

const say = strings.connections

export function Component() {
  return <Page title={say.title}>{null}</Page>
}
