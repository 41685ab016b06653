import { Page } from '../../parts/page.tsx'
import { strings } from '../../strings/index.ts'

const say = strings.overview

export function Component() {
  return <Page title={say.title}>{null}</Page>
}
