import { Page } from '../../parts/page.tsx'
import { strings } from '../../strings/index.ts'

const say = strings.connectors

export function Component() {
  return <Page title={say.title}>{null}</Page>
}
