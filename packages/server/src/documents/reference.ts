import { layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { html } from './markup.ts'

/**
 * Content security policy of the reference: it loads everything from this service. Its script contains its stylesheet, so the
 * policy must allow inline styles. It does not allow inline scripts. When a reader tries out a request, it is sent to the
 * public address.
 */
export function referencePolicy(publicUrl: string): string {
  return (
    `default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; ` +
    `connect-src 'self' ${new URL(publicUrl).origin}; object-src 'none'; base-uri 'none'; form-action 'none'; ` +
    `frame-ancestors 'none'`
  )
}

/** The API reference, which Scalar draws from the contract. */
export function referencePage(links: Links): string {
  return layOutPage(links, {
    title: 'Penstock API reference',
    place: 'reference',
    head: html`<link rel="stylesheet" href="${links.asset('reference.css')}">
<script src="${links.asset('reference-repairs.js')}" defer></script>
<script src="${links.asset('scalar.js')}" defer></script>
<script src="${links.asset('reference.js')}" defer></script>
`,
    // In a section, the header that Scalar draws on narrow screens is no second banner of the page.
    body: html`<section id="content" class="reference" tabindex="-1">
<noscript><p class="unscripted">The reference is drawn by a script. Without one, read the <a href="${links.contract('/es/v2/openapi.json')}">OpenAPI document</a>.</p></noscript>
<div id="reference"></div>
</section>`,
  })
}

/** Starts the reference. Whatever would speak to another host, or keep a token in the browser, is off. */
export function referenceScript(contract: string): string {
  const configuration = {
    url: contract,
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    persistAuth: false,
    documentDownloadType: 'json',
    modelsSectionLabel: 'Schemas',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    metaData: { title: 'Penstock API reference' },
  }
  return `const configuration = ${JSON.stringify(configuration, null, 2)}
configuration.darkMode = document.body.classList.contains('dark-mode')
Scalar.createApiReference('#reference', configuration)
`
}
