import { type RequestMethod, VERSION_NEUTRAL, VersioningType } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { canonicalTemplate } from '../http/template.js';

/** Metadata keys of Nest's own decorators; the same since Nest 5. */
const PATH = 'path';
const METHOD = 'method';
const VERSION = '__version__';
const MODULE_PATH = '__module_path__';

/** The HTTP method a handler is mapped to; undefined when it is no HTTP handler. */
export function requestMethodOf(handler: object): RequestMethod | undefined {
  return Reflect.hasMetadata(PATH, handler) ? Reflect.getMetadata(METHOD, handler) : undefined;
}

/**
 * The templates under which Nest maps a handler: global prefix, version of the URI, module path,
 * controller path, handler path. Requests are counted by the template that the framework really
 * matched; these are for telling, before the first request, which routes there are.
 */
export function templatesOf(
  controller: { readonly type: object; readonly module: object; readonly applicationId: string },
  handler: object,
  config: ApplicationConfig,
): string[] {
  const modulePath: string =
    Reflect.getMetadata(MODULE_PATH + controller.applicationId, controller.module) ??
    Reflect.getMetadata(MODULE_PATH, controller.module) ??
    '';
  const templates: string[] = [];
  for (const version of uriVersions(controller.type, handler, config)) {
    for (const controllerPath of list(Reflect.getMetadata(PATH, controller.type))) {
      for (const handlerPath of list(Reflect.getMetadata(PATH, handler))) {
        const path = joined([modulePath, controllerPath, handlerPath]);
        const prefix = excluded(path, handler, config) ? '' : config.getGlobalPrefix();
        templates.push(canonicalTemplate(joined([prefix, version, path])));
      }
    }
  }
  return templates;
}

/** Versions stand in the path only where versioning goes by URI. */
function uriVersions(type: object, handler: object, config: ApplicationConfig): string[] {
  const versioning = config.getVersioning();
  if (versioning?.type !== VersioningType.URI) return [''];
  const version =
    Reflect.getMetadata(VERSION, handler) ??
    Reflect.getMetadata(VERSION, type) ??
    versioning.defaultVersion;
  if (version === undefined) return [''];
  const prefix = versioning.prefix === false ? '' : (versioning.prefix ?? 'v');
  return list(version).map((one) => (one === (VERSION_NEUTRAL as unknown) ? '' : prefix + one));
}

function excluded(path: string, handler: object, config: ApplicationConfig): boolean {
  const method = requestMethodOf(handler);
  return (config.getGlobalPrefixOptions().exclude ?? []).some((route) => {
    const every = route.requestMethod < 0 || route.requestMethod === 5; // RequestMethod.ALL
    return (every || route.requestMethod === method) && route.pathRegex.test(path);
  });
}

function joined(parts: readonly string[]): string {
  return `/${parts.join('/')}/`.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
}

function list<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}
