/** The first parts of the addresses of the console's pages. The service answers each, and all beneath it, with the console. */
export const pageRoots = ['sign-in', 'accounts', 'connections', 'reports', 'deleted', 'api-keys'] as const
